-- One sign of life of one process, and what is known of times without any.
-- KEYS: when the last sign of any process was, the last outages as `BEGIN END`
-- ARGV: 1 now, 2 after how many milliseconds without a sign there was an outage,
--       3 the end of the last outage that the caller knows, 4 how many outages are kept,
--       5 and 6 the time of this store just before now, 7 how many milliseconds a sign may take
-- A sign that took long to come, because the store was stopped or the sender asleep, says nothing
-- of the time in between: it counts for nothing. This store's own time tells.
-- A clock may be behind another one, or be set back: the last sign never goes back, so that an
-- outage has always lasted for a while, and begins after the one before has ended.
local time = redis.call('TIME')
local took = (time[1] - ARGV[5]) * 1000 + (time[2] - ARGV[6]) / 1000
if took > tonumber(ARGV[7]) then return {'late'} end
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
