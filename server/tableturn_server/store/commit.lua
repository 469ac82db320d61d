-- Decides one change of one table, in one step.
-- KEYS: table, log, snaps, seen, past
-- ARGV: 1 revision it is based on ('0': the table is to be created), 2 that change's id,
--       3 the next revision, 4 digest of the request id ('' without request), 5 digest of its body,
--       6 'write' or 'confirm', 7 blob, 8 log entry,
--       9 outcome ('' with 'confirm': the request is not remembered), 10 change id,
--       11 turn of the snapshot ('' without), 12 snapshot, 13 time of creation ('' if it exists),
--       14 for how long request ids are remembered after the last one,
--       15 stamp of the new state where spectators see it later (else nothing more), 16 stamp of the
--       state before, 17 what spectators see now is not older than this, 18 for how long the past
--       is kept without a change, 19 the new state for spectators ('': the blob)
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
local function remember(revision)
  if request == '' then return end
  redis.call('LPUSH', KEYS[4], request .. ARGV[5] .. revision .. ' ' .. ARGV[9])
  redis.call('LTRIM', KEYS[4], 0, 7)
  redis.call('PEXPIRE', KEYS[4], ARGV[14])
end
if ARGV[6] == 'confirm' then
  if ARGV[9] ~= '' then remember(ARGV[1]) end
  return {'unchanged'}
end
if ARGV[11] ~= '' then redis.call('HEXISTS', KEYS[3], ARGV[11]) end
local past, before = ARGV[15], nil
if past then
  past = past .. '-' .. ARGV[3]
  -- A table that rested for long has no past any more; one with a newer past than this change is
  -- out of a backup of which a part was lost. Either way the past begins anew with the state before.
  local begins = redis.call('XLEN', KEYS[5]) == 0
      or #redis.call('XRANGE', KEYS[5], past, '+', 'COUNT', 1) > 0
  if begins then before = state[1] and redis.call('HGET', KEYS[1], 'blob') or '' end
end

redis.call('XADD', KEYS[2], ARGV[3] .. '-0', 'e', ARGV[8], 'c', ARGV[10])
redis.call('HSET', KEYS[1], 'rev', ARGV[3], 'change', ARGV[10], 'blob', ARGV[7])
if ARGV[13] ~= '' then redis.call('HSET', KEYS[1], 'listed', ARGV[13]) end
remember(ARGV[3])
if ARGV[11] ~= '' then redis.call('HSET', KEYS[3], ARGV[11], ARGV[12]) end
if past then
  if before then redis.call('DEL', KEYS[5]) end
  if before and before ~= '' then
    redis.call('XADD', KEYS[5], ARGV[16] .. '-' .. state[1], 'b', before, 'c', state[2])
  end
  redis.call('XADD', KEYS[5], past, 'b', ARGV[19] ~= '' and ARGV[19] or ARGV[7], 'c', ARGV[10])
  -- Kept is what spectators see now, and everything after it.
  local seen = redis.call('XREVRANGE', KEYS[5], ARGV[17], '-', 'COUNT', 1)
  if seen[1] then redis.call('XTRIM', KEYS[5], 'MINID', '=', seen[1][1]) end
  redis.call('PEXPIRE', KEYS[5], ARGV[18])
end
return {'committed'}
