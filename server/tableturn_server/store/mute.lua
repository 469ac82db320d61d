-- Sets who may speak at a table, and returns all settings.
-- KEYS: the settings
-- ARGV: 1 '1': nobody, '0': all, '': as it is; 2 how many of those who are muted are remembered,
--       3 how many are muted now; of each of those and then of all who may speak again the seat
--       and since when they sit there, and their token in hexadecimal digits ('': none)
-- Fields: 'muted SEAT SINCE' = the tokens that somebody who is muted has had there.
if ARGV[1] ~= '' then redis.call('HSET', KEYS[1], 'off', ARGV[1]) end
local first = 4 + 2 * tonumber(ARGV[3])
for i = first, #ARGV, 2 do
  local fields = redis.call('HGETALL', KEYS[1])
  for j = 1, #fields, 2 do
    if string.sub(fields[j], 1, 6) == 'muted ' and (fields[j] == 'muted ' .. ARGV[i]
        or ARGV[i + 1] ~= '' and string.find(fields[j + 1], ARGV[i + 1], 1, true)) then
      redis.call('HDEL', KEYS[1], fields[j])
    end
  end
end
for i = 4, first - 1, 2 do
  local field = 'muted ' .. ARGV[i]
  local tokens = redis.call('HGET', KEYS[1], field) or ''
  if ARGV[i + 1] ~= '' and not string.find(tokens, ARGV[i + 1], 1, true) then
    tokens = ARGV[i + 1] .. ' ' .. tokens
  end
  redis.call('HSET', KEYS[1], field, tokens)
end
local places = {}
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  local since = string.match(field, '^muted %d+ (%d+)$')
  if since then places[#places + 1] = {tonumber(since), field} end
end
table.sort(places, function(one, other) return one[1] > other[1] end)
for i = tonumber(ARGV[2]) + 1, #places do redis.call('HDEL', KEYS[1], places[i][2]) end
return redis.call('HGETALL', KEYS[1])
