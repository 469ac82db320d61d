-- One sign of life of one process, and what is known of times without any.
-- KEYS: when the last sign of any process was, the last outages as `BEGIN END`
-- ARGV: 1 now, 2 after how many milliseconds without a sign there was an outage,
--       3 the end of the last outage that the caller knows, 4 how many outages are kept
-- A clock may be behind another one, or be set back: the last sign never goes back, so that an
-- outage has always lasted for a while, and begins after the one before has ended.
local now, last = tonumber(ARGV[1]), tonumber(redis.call('GET', KEYS[1]) or ARGV[1])
local recorded = 0
if now - last > tonumber(ARGV[2]) then
  redis.call('RPUSH', KEYS[2], string.format('%.0f %.0f', last, now))
  redis.call('LTRIM', KEYS[2], -tonumber(ARGV[4]), -1)
  recorded = 1
end
if now >= last then redis.call('SET', KEYS[1], ARGV[1]) end
local found = {recorded}
for _, outage in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
  if tonumber(string.match(outage, '%d+$')) > tonumber(ARGV[3]) then found[#found + 1] = outage end
end
return found
