//! `keys`: where keys land.

use crate::runs::{fed, run};

#[test]
fn each_key_is_told_with_its_space_queue_type_slot_and_reason() {
    let ran = run(&["keys", "{emq}:version", "emq:{mail}:job:USR0KHTOWnGLuC", "user:17"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        ran.out,
        "{emq}:version\n  space  reserve\n  slot   9051\n  \
           why    reserve: it begins with {emq}:, `version` is of no queue\n\
         emq:{mail}:job:USR0KHTOWnGLuC\n  space  queue\n  queue  mail\n  type   job\n  \
           job    a USR minted 2026-01-27T15:11:37.641Z\n  slot   4247\n  \
           why    queue: a job row of `mail`, its id names a USR\n\
         user:17\n  space  foreign\n  slot   4440\n  \
           why    foreign: it begins with neither {emq}: nor emq:{\n"
    );
}

#[test]
fn keys_come_from_standard_input_one_a_line_whatever_their_bytes() {
    let ran = fed(&["keys", "-", "--json"], b"emq:{mail}:pending\nemq:{\xff}:x\nlast");
    assert_eq!(ran.code, 0, "{ran:?}");
    let told = ran.jsons();
    assert_eq!(told[0]["key"], "emq:{mail}:pending");
    assert_eq!((&told[0]["queue"], &told[0]["type"]), (&"mail".into(), &"pending".into()));
    assert_eq!(told[1]["key"]["hex"], "656d713a7bff7d3a78");
    assert_eq!((told.len(), &told[2]["space"]), (3, &"foreign".into()));
}

#[test]
fn a_job_row_is_told_with_its_id_and_a_malformed_one_with_the_reason() {
    let ran = run(&["keys", "--json", "emq:{q}:job:USR0KHTOWnGLuC", "emq:{q}:job:USR"]);
    let told = ran.jsons();
    assert_eq!(told[0]["job"]["snowflake"], 274_557_032_793_636_864_u64);
    assert_eq!(told[0]["job"]["kind"], "USR");
    assert!(told[1]["job"].is_null() && told[1]["type"] == "job", "{told:?}");
    assert!(told[1]["why"].as_str().unwrap().contains("no job's"), "{told:?}");
}
