-- A new job. Asked twice for the same id, it is there once: an enqueue of unknown outcome may be
-- sent again.
-- KEYS: job, pending, wake    ARGV: id, payload, events
if redis.call('EXISTS', KEYS[1]) == 1 then
    return 0
end
redis.call('HSET', KEYS[1], 'state', 'pending', 'payload', ARGV[2], 'attempts', 0, 'completions', 0)
redis.call('LPUSH', KEYS[2], ARGV[1])
redis.call('LPUSH', KEYS[3], ARGV[1])
redis.call('PUBLISH', ARGV[3], 'enqueued ' .. ARGV[1])
return 1
