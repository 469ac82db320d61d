-- Lets a panel go, if this bridge holds it.
-- KEYS: the panel's lease at a table
-- ARGV: 1 the bridge's name
if redis.call('HGET', KEYS[1], 'holder') ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
