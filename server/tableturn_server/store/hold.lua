-- Holds a panel for one bridge, or says who holds it.
-- KEYS: the panel's lease at a table
-- ARGV: 1 the bridge's name, 2 what it tells of the panel, 3 when, 4 for how many milliseconds
local holder = redis.call('HGET', KEYS[1], 'holder')
if holder and holder ~= ARGV[1] then
  return {'held', holder, redis.call('PTTL', KEYS[1])}
end
redis.call('HSET', KEYS[1], 'holder', ARGV[1], 'report', ARGV[2], 'time', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return {'ours'}
