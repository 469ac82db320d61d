-- Says something at a table, once, or tells why not.
-- KEYS: the table's chat, its settings, what the principal has said
-- ARGV: 1 digest of the request id, 2 digest of its body, 3 the line, 4 now, 5 the seat (0: the
--       host), 6 how many lines it may say (0: any number), 7 in how long, 8 how many lines are
--       kept, 9 how many where spectators are still to hear them, 10 after what delay they do,
--       11 how long requests are remembered; then for each seat of the speaker the seat and since
--       when, and the token in hexadecimal digits ('': none): nothing for one who is never muted
-- All times in milliseconds.
for _, said in ipairs(redis.call('LRANGE', KEYS[3], 0, -1)) do
  if string.sub(said, 1, 16) == ARGV[1] then
    if string.sub(said, 17, 32) ~= ARGV[2] then return {'reused'} end
    local blank = string.find(said, ' ', 33, true)
    return {'known', string.sub(said, 33, blank - 1), string.sub(said, blank + 1)}
  end
end
if redis.call('HGET', KEYS[2], 'off') == '1' then return {'off'} end
local settings = redis.call('HGETALL', KEYS[2])
for i = 1, #settings, 2 do
  if string.sub(settings[i], 1, 6) == 'muted ' then
    for j = 12, #ARGV, 2 do
      if settings[i] == 'muted ' .. ARGV[j]
          or ARGV[j + 1] ~= '' and string.find(settings[i + 1], ARGV[j + 1], 1, true) then
        return {'muted'}
      end
    end
  end
end
local now, most, within = tonumber(ARGV[4]), tonumber(ARGV[6]), tonumber(ARGV[7])
if most > 0 then
  -- When the seat spoke last. A clock that was put back makes nobody wait for longer.
  local spoke = {}
  for time in string.gmatch(redis.call('HGET', KEYS[2], 'spoke ' .. ARGV[5]) or '', '%d+') do
    if math.abs(now - time) < within then spoke[#spoke + 1] = time end
  end
  if #spoke >= most then
    local wait = tonumber(spoke[#spoke - most + 1]) + within - now
    return {'wait', tostring(math.max(1, math.min(wait, within)))}
  end
  spoke[#spoke + 1] = ARGV[4]
  redis.call('HSET', KEYS[2], 'spoke ' .. ARGV[5], table.concat(spoke, ' '))
end
local number = redis.call('HINCRBY', KEYS[2], 'number', 1)
redis.call('XADD', KEYS[1], number .. '-0', 'l', ARGV[3], 't', ARGV[4])
local kept = redis.call('XLEN', KEYS[1])
while kept > tonumber(ARGV[8]) do
  local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1][2]
  local time = tonumber(oldest[4] or '0')
  if kept <= tonumber(ARGV[9]) and math.abs(now - time) < tonumber(ARGV[10]) then break end
  kept = kept - 1
  redis.call('XTRIM', KEYS[1], 'MAXLEN', kept)
end
redis.call('LPUSH', KEYS[3], ARGV[1] .. ARGV[2] .. number .. ' ' .. ARGV[3])
redis.call('LTRIM', KEYS[3], 0, 7)
redis.call('PEXPIRE', KEYS[3], ARGV[11])
return {'said', tostring(number), ARGV[3]}
