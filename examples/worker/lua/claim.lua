-- The next job, for as long as its lease lasts. Leases that ran out are given back first, so that
-- a job whose worker died, or whose claim was answered to nobody, comes round again.
-- KEYS: pending, active, wake    ARGV: prefix of job keys, token, lease in ms, events
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], 0, now, 'LIMIT', 0, 100)) do
    redis.call('ZREM', KEYS[2], id)
    redis.call('HSET', ARGV[1] .. id, 'state', 'pending', 'token', '')
    redis.call('RPUSH', KEYS[1], id)
    redis.call('PUBLISH', ARGV[4], 'expired ' .. id)
end
local id = redis.call('RPOP', KEYS[1])
if not id then
    -- Nothing is pending, so nothing is to be woken up for.
    redis.call('DEL', KEYS[3])
    return nil
end
local job = ARGV[1] .. id
local attempts = redis.call('HINCRBY', job, 'attempts', 1)
redis.call('HSET', job, 'state', 'active', 'token', ARGV[2])
redis.call('ZADD', KEYS[2], now + ARGV[3], id)
return { id, redis.call('HGET', job, 'payload'), attempts }
