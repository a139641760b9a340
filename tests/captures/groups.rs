//! Commands whose replies together are of every kind that a server says. Their words are parted by spaces.

/// A group's name and its commands, on an empty store and a connection of its own.
pub(crate) const GROUPS: &[(&str, &[&str])] = &[
    ("strings", STRINGS),
    ("hashes", HASHES),
    ("lists", LISTS),
    ("sets", SETS),
    ("sorted-sets", SORTED_SETS),
    ("streams", STREAMS),
    ("scripts", SCRIPTS),
    ("transactions", TRANSACTIONS),
    ("errors", ERRORS),
    ("server", SERVER),
    ("pushes", PUSHES),
    ("types", TYPES),
];

const STRINGS: &[&str] = &[
    "SET k hello",
    "GET k",
    "GET missing",
    "SET bytes \0\r\n\u{ff}",
    "MGET k missing bytes",
    "STRLEN bytes",
    "SET k other NX",
    "SET k other GET",
    "INCRBYFLOAT n 3.25",
    "INCRBY big 9223372036854775807",
    "LCS k bytes IDX",
    "SETBIT bits 7000 1",
    "GETRANGE bits 0 40",
    "BITFIELD bits GET u8 0 OVERFLOW FAIL SET u2 0 9",
];

const HASHES: &[&str] = &[
    "HSET h a 1 b 2.5 c ",
    "HGETALL h",
    "HGETALL missing",
    "HMGET h a missing",
    "HINCRBYFLOAT h b 0.1",
    "HSCAN h 0",
    "HKEYS h",
    "HRANDFIELD h -2 WITHVALUES",
];

const LISTS: &[&str] = &[
    "RPUSH l a b c d e",
    "LRANGE l 0 -1",
    "LRANGE missing 0 -1",
    "LPOP l 2",
    "LPOP missing 2",
    "LPOS l e COUNT 0",
    "LMPOP 2 missing l LEFT",
    "LMPOP 1 missing LEFT",
    "BLPOP l 1",
    "BLMPOP 0.01 1 missing LEFT",
    "BLPOP missing 0.01",
];

const SETS: &[&str] = &[
    "SADD s a b c",
    "SMEMBERS s",
    "SMEMBERS missing",
    "SMISMEMBER s a x",
    "SINTER s s",
    "SSCAN s 0",
    "SPOP s 3",
];

const SORTED_SETS: &[&str] = &[
    "ZADD z 1 a 2.5 b inf c -inf d 1e-7 e",
    "ZRANGE z 0 -1 WITHSCORES",
    "ZSCORE z b",
    "ZSCORE z missing",
    "ZMSCORE z a missing c",
    "ZADD z INCR 1.1 a",
    "ZADD z NX INCR 1 a",
    "ZPOPMIN z",
    "ZMPOP 1 z MAX COUNT 2",
    "BZPOPMIN z 1",
    "ZRANDMEMBER z -2 WITHSCORES",
    "GEOADD g 13.361389 38.115556 Palermo",
    "GEOPOS g Palermo missing",
    "GEOSEARCH g FROMMEMBER Palermo BYRADIUS 1 km WITHCOORD WITHDIST",
];

const STREAMS: &[&str] = &[
    "XADD x 1-1 f v",
    "XADD x 1-2 f v g w",
    "XRANGE x - +",
    "XREAD COUNT 1 STREAMS x 0",
    "XREAD STREAMS x $",
    "XGROUP CREATE x group 0",
    "XREADGROUP GROUP group me COUNT 2 STREAMS x >",
    "XDEL x 1-1",
    "XREADGROUP GROUP group me STREAMS x 0",
    "XPENDING x group - + 9",
    "XAUTOCLAIM x group you 0 0",
    "XINFO STREAM x FULL",
    "XINFO GROUPS x",
    "XACK x group 1-2",
];

const SCRIPTS: &[&str] = &[
    "EVAL return{1,{'a',{}},false,true,3.99} 0",
    "EVAL return{err='MINE\tof\tmy\town'} 0",
    "EVAL return{ok='FINE'} 0",
    "EVAL redis.setresp(3);return{double=3.5} 0",
    "EVAL redis.setresp(3);return{map={a=1}} 0",
    "EVAL redis.setresp(3);return{set={a=true}} 0",
    "EVAL redis.setresp(3);return{big_number='123456789012345678901234567890'} 0",
    "EVAL redis.setresp(3);return{verbatim_string={format='mkd',string='#x'}} 0",
    "EVAL redis.setresp(3);return{true,false} 0",
    "EVAL return{{{{{{{{{{{{1}}}}}}}}}}}} 0",
    "EVALSHA 0000000000000000000000000000000000000000 0",
    "EVAL return+nil 0",
    "EVAL_RO return(redis.call('SET','a','b')) 0",
    "SCRIPT EXISTS 0000000000000000000000000000000000000000",
];

const TRANSACTIONS: &[&str] = &[
    "MULTI",
    "SET k v",
    "LPUSH k v",
    "HGETALL h",
    "EXEC",
    "MULTI",
    "NOSUCH",
    "EXEC",
    "WATCH k",
    "SET k w",
    "MULTI",
    "PING",
    "EXEC",
    "EXEC",
    "MULTI",
    "DISCARD",
];

const ERRORS: &[&str] = &[
    "NOSUCH a b",
    "GET",
    "SET k v",
    "LPUSH k v",
    "INCR k",
    "SET k v NONSENSE",
    "SELECT 999",
    "HELLO 9",
    "HELLO 3 AUTH nobody nothing",
    "AUTH nothing",
    "CLIENT NOSUCH",
    "XGROUP CREATE missing group 0",
    "CONFIG SET maxmemory nonsense",
    "EXEC",
];

const SERVER: &[&str] = &[
    "HELLO",
    "PING",
    "PING again",
    "ROLE",
    "CLIENT SETNAME me",
    "CLIENT GETNAME",
    "CLIENT LIST",
    "CONFIG GET maxmemory*",
    "COMMAND INFO get blpop nosuch",
    "COMMAND DOCS ping",
    "INFO keyspace",
    "ACL GETUSER default",
    "LATENCY DOCTOR",
    "OBJECT FREQ missing",
    "FUNCTION STATS",
    "MEMORY USAGE missing",
];

/// To a client of RESP2 some of it is refused.
const PUSHES: &[&str] = &[
    "CLIENT TRACKING ON",
    "GET k",
    "SET k v",
    "SUBSCRIBE c",
    "PSUBSCRIBE c*",
    "PUBLISH c message",
    "GET k",
    "FLUSHALL",
    "UNSUBSCRIBE",
    "PUNSUBSCRIBE",
    "UNSUBSCRIBE",
];

const TYPES: &[&str] = &[
    "DEBUG PROTOCOL STRING",
    "DEBUG PROTOCOL INTEGER",
    "DEBUG PROTOCOL DOUBLE",
    "DEBUG PROTOCOL NULL",
    "DEBUG PROTOCOL ARRAY",
    "DEBUG PROTOCOL SET",
    "DEBUG PROTOCOL MAP",
    "DEBUG PROTOCOL ATTRIB",
    "DEBUG PROTOCOL PUSH",
    "DEBUG PROTOCOL VERBATIM",
    "DEBUG PROTOCOL TRUE",
    "DEBUG PROTOCOL FALSE",
    "DEBUG PROTOCOL BIGNUM",
];
