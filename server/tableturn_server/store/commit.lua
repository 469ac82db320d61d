-- Decides one change of one table, in one step.
-- KEYS: table, log, snaps, seen
-- ARGV: 1 revision it is based on ('0': the table is to be created), 2 that change's id,
--       3 the next revision, 4 digest of the request id ('' without request), 5 digest of its body,
--       6 'write' or 'confirm', 7 blob, 8 log entry, 9 outcome, 10 change id,
--       11 turn of the snapshot ('' without), 12 snapshot, 13 time of creation ('' if it exists)
-- The revision alone does not say what a decision rests on: a store that has lost changes, after a
-- failover or out of a backup, has made another change of the same revision since.
-- Everything is read and checked before the first write. XADD is the first write, because it is
-- the only one that can still be refused (an id that is not the newest); out of memory and a
-- failing disk are refused by the server at the first write, never after it.
local request = ARGV[4]
if request ~= '' then
  for _, known in ipairs(redis.call('LRANGE', KEYS[4], 0, -1)) do
    if string.sub(known, 1, 16) == request then
      if string.sub(known, 17, 32) ~= ARGV[5] then return {'reused'} end
      local blank = string.find(known, ' ', 33, true)
      return {'known', string.sub(known, 33, blank - 1), string.sub(known, blank + 1)}
    end
  end
end

local state = redis.call('HMGET', KEYS[1], 'rev', 'change')
if not state[1] then
  if ARGV[1] ~= '0' then return {'missing'} end
elseif state[1] ~= ARGV[1] or state[2] ~= ARGV[2] then
  return {'conflict', state[1], state[2], redis.call('HGET', KEYS[1], 'blob')}
end
if ARGV[6] == 'confirm' then return {'unchanged'} end
if ARGV[11] ~= '' then redis.call('HEXISTS', KEYS[3], ARGV[11]) end

redis.call('XADD', KEYS[2], ARGV[3] .. '-0', 'e', ARGV[8], 'c', ARGV[10])
redis.call('HSET', KEYS[1], 'rev', ARGV[3], 'change', ARGV[10], 'blob', ARGV[7])
if ARGV[13] ~= '' then redis.call('HSET', KEYS[1], 'listed', ARGV[13]) end
if request ~= '' then
  redis.call('LPUSH', KEYS[4], request .. ARGV[5] .. ARGV[3] .. ' ' .. ARGV[9])
  redis.call('LTRIM', KEYS[4], 0, 7)
end
if ARGV[11] ~= '' then redis.call('HSET', KEYS[3], ARGV[11], ARGV[12]) end
return {'committed'}
