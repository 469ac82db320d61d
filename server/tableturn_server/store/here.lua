-- Notes how many watches a process serves at a table for one token, and returns the whole hash.
-- KEYS: the table's presence
-- ARGV: 1 token in hexadecimal digits ('': of all who have no part in the table), 2 the process,
--       3 how many watches (0: none any more), 4 now, 5 after which silence somebody is gone,
--       6 how long all this is kept
-- Fields: 'TOKEN' = 'CAME LEFT', 'TOKEN PROCESS' = 'LAST COUNT', times in milliseconds.
local token, now, silence = ARGV[1], tonumber(ARGV[4]), tonumber(ARGV[5])
local mine = token .. ' ' .. ARGV[2]
local elsewhere, known = false, redis.call('HGET', KEYS[1], token) or '0 0'
local came, left = string.match(known, '^(%d+) (%d+)$')
came, left = tonumber(came), tonumber(left)
local was_here = false
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  if string.match(fields[i], '^(%x*) ') == token then
    local last = tonumber(string.match(fields[i + 1], '^%d+'))
    if now - last <= silence then
      was_here = true
      if fields[i] ~= mine then elsewhere = true end
    else
      -- A process that was killed: nobody else takes its field away.
      left = math.max(left, last)
      redis.call('HDEL', KEYS[1], fields[i])
    end
  end
end
if ARGV[3] == '0' then
  redis.call('HDEL', KEYS[1], mine)
  if was_here and not elsewhere then left = math.max(left, now) end
else
  if not was_here then came = now end
  redis.call('HSET', KEYS[1], mine, ARGV[4] .. ' ' .. ARGV[3])
end
if token ~= '' and (came > 0 or left > 0) then
  redis.call('HSET', KEYS[1], token, string.format('%.0f %.0f', came, left))
end
redis.call('PEXPIRE', KEYS[1], ARGV[6])
return redis.call('HGETALL', KEYS[1])
