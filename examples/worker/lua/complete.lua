-- Done, if the lease is still ours. Asked twice by the same token, it counts once and says so: a
-- completion of unknown outcome may be sent again.
-- KEYS: job, active    ARGV: id, token, events
local job = redis.call('HMGET', KEYS[1], 'state', 'token')
if job[2] ~= ARGV[2] then
    return 'lost'
end
if job[1] == 'completed' then
    return 'already'
end
redis.call('HSET', KEYS[1], 'state', 'completed')
redis.call('HINCRBY', KEYS[1], 'completions', 1)
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('PUBLISH', ARGV[3], 'completed ' .. ARGV[1])
return 'completed'
