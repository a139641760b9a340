-- Failed: back to the end of the line, if the lease is still ours.
-- KEYS: job, pending, active, wake    ARGV: id, token, events
local job = redis.call('HMGET', KEYS[1], 'state', 'token')
if job[1] ~= 'active' or job[2] ~= ARGV[2] then
    return 'lost'
end
redis.call('HSET', KEYS[1], 'state', 'pending', 'token', '')
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('LPUSH', KEYS[2], ARGV[1])
redis.call('LPUSH', KEYS[4], ARGV[1])
redis.call('PUBLISH', ARGV[3], 'retried ' .. ARGV[1])
return 'retried'
