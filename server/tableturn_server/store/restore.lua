-- Puts a whole table into the store, or nothing: an import, or a table of another store.
-- KEYS: table, log, snaps, seen, past
-- ARGV: 1 revision, 2 change id, 3 blob, 4 time of creation, 5 digest of the request id or '',
--       6 digest of its body, 7 outcome, 8 number of log entries, 9 number of snapshots,
--       10 stamp of the state where spectators see it later ('' where not), 11 for how long the
--       past is kept without a change, 12 the state for spectators ('': the blob),
--       13 for how long request ids are remembered, then revision, change id, entry of each log entry, then turn, snapshot of each snapshot
local request = ARGV[5]
if request ~= '' then
  for _, known in ipairs(redis.call('LRANGE', KEYS[4], 0, -1)) do
    if string.sub(known, 1, 16) == request then
      if string.sub(known, 17, 32) ~= ARGV[6] then return {'reused'} end
      local blank = string.find(known, ' ', 33, true)
      return {'known', string.sub(known, 33, blank - 1), string.sub(known, blank + 1)}
    end
  end
end
local state = redis.call('HMGET', KEYS[1], 'rev', 'change', 'blob')
if state[1] then return {'conflict', state[1], state[2], state[3]} end
redis.call('HLEN', KEYS[3])
redis.call('XLEN', KEYS[5])

-- The caller has checked that the revisions ascend: if the first is accepted, all are.
local at = 14
for _ = 1, tonumber(ARGV[8]) do
  redis.call('XADD', KEYS[2], ARGV[at] .. '-0', 'e', ARGV[at + 2], 'c', ARGV[at + 1])
  at = at + 3
end
redis.call('HSET', KEYS[1], 'rev', ARGV[1], 'change', ARGV[2], 'blob', ARGV[3], 'listed', ARGV[4])
for _ = 1, tonumber(ARGV[9]) do
  redis.call('HSET', KEYS[3], ARGV[at], ARGV[at + 1])
  at = at + 2
end
redis.call('DEL', KEYS[5])
if ARGV[10] ~= '' then
  local state = ARGV[12] ~= '' and ARGV[12] or ARGV[3]
  redis.call('XADD', KEYS[5], ARGV[10] .. '-' .. ARGV[1], 'b', state, 'c', ARGV[2])
  redis.call('PEXPIRE', KEYS[5], ARGV[11])
end
if request ~= '' then
  redis.call('LPUSH', KEYS[4], request .. ARGV[6] .. ARGV[1] .. ' ' .. ARGV[7])
  redis.call('PEXPIRE', KEYS[4], ARGV[13])
end
return {'committed'}
