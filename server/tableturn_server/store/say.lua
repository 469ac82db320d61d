-- Says something at a table, once, or tells why not.
-- KEYS: the table's chat, its settings, what the principal has said
-- ARGV: 1 digest of the request id, 2 digest of its body, 3 the seat, '' for one that is never
--       muted, 4 the line, 5 how many lines are kept, 6 how long requests are remembered
for _, said in ipairs(redis.call('LRANGE', KEYS[3], 0, -1)) do
  if string.sub(said, 1, 16) == ARGV[1] then
    if string.sub(said, 17, 32) ~= ARGV[2] then return {'reused'} end
    local blank = string.find(said, ' ', 33, true)
    return {'known', string.sub(said, 33, blank - 1), string.sub(said, blank + 1)}
  end
end
if ARGV[4] == '' then return {'new'} end
if redis.call('HGET', KEYS[2], 'off') == '1' then return {'off'} end
if ARGV[3] ~= '' and redis.call('HEXISTS', KEYS[2], 'muted ' .. ARGV[3]) == 1 then
  return {'muted'}
end
local number = redis.call('HINCRBY', KEYS[2], 'number', 1)
redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[5], number .. '-0', 'l', ARGV[4])
redis.call('LPUSH', KEYS[3], ARGV[1] .. ARGV[2] .. number .. ' ' .. ARGV[4])
redis.call('LTRIM', KEYS[3], 0, 7)
redis.call('PEXPIRE', KEYS[3], ARGV[6])
return {'said', tostring(number), ARGV[4]}
