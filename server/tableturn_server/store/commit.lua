-- Decides one change of one table, in one step.
-- KEYS: table, log, snaps, seen
-- ARGV: 1 revision it is based on ('0': the table is to be created), 2 the next revision,
--       3 digest of the request id ('' without request), 4 digest of its body,
--       5 'write' or 'confirm', 6 blob, 7 log entry, 8 outcome, 9 change id,
--       10 turn of the snapshot ('' without), 11 snapshot, 12 time of creation ('' if it exists)
-- Everything is read and checked before the first write. XADD is the first write, because it is
-- the only one that can still be refused (an id that is not the newest); out of memory and a
-- failing disk are refused by the server at the first write, never after it.
local request = ARGV[3]
if request ~= '' then
  for _, known in ipairs(redis.call('LRANGE', KEYS[4], 0, -1)) do
    if string.sub(known, 1, 16) == request then
      if string.sub(known, 17, 32) ~= ARGV[4] then return {'reused'} end
      local blank = string.find(known, ' ', 33, true)
      return {'known', string.sub(known, 33, blank - 1), string.sub(known, blank + 1)}
    end
  end
end

local revision = redis.call('HGET', KEYS[1], 'rev')
if not revision then
  if ARGV[1] ~= '0' then return {'missing'} end
elseif revision ~= ARGV[1] then
  local state = redis.call('HMGET', KEYS[1], 'change', 'blob')
  return {'conflict', revision, state[1], state[2]}
end
if ARGV[5] == 'confirm' then return {'unchanged'} end
if ARGV[10] ~= '' then redis.call('HEXISTS', KEYS[3], ARGV[10]) end

redis.call('XADD', KEYS[2], ARGV[2] .. '-0', 'e', ARGV[7], 'c', ARGV[9])
redis.call('HSET', KEYS[1], 'rev', ARGV[2], 'change', ARGV[9], 'blob', ARGV[6])
if ARGV[12] ~= '' then redis.call('HSET', KEYS[1], 'listed', ARGV[12]) end
if request ~= '' then
  redis.call('LPUSH', KEYS[4], request .. ARGV[4] .. ARGV[2] .. ' ' .. ARGV[8])
  redis.call('LTRIM', KEYS[4], 0, 7)
end
if ARGV[10] ~= '' then redis.call('HSET', KEYS[3], ARGV[10], ARGV[11]) end
return {'committed'}
