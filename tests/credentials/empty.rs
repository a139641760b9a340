//! An empty password is a password: sent where it was given, right where the server has none.

use echo_wire::connector::{Connection, Connector, Credentials, Error};

use crate::{
    bed::{user, whoami},
    support::everywhere,
};

#[test]
fn users_without_a_password_come_in_with_an_empty_one() {
    everywhere(async |server, config| {
        user(server, "guest", &["nopass"]);
        let guest = Credentials::user_and_password("guest", "");
        let default = Credentials::password("");
        for (credentials, name) in [(&guest, "guest"), (&default, "default")] {
            let given = config.clone().credentials(credentials.clone());
            let connector = Connector::connect(given).await.unwrap();
            assert_eq!(whoami(&connector).await, name);
            // … and become each other.
            for (credentials, name) in [(&default, "default"), (&guest, "guest")] {
                connector.authenticate(credentials.clone()).await.unwrap();
                assert_eq!(whoami(&connector).await, name);
            }
        }
        let url = server.url().replace("://", "://guest@");
        assert_eq!(whoami(&Connector::connect(url.parse().unwrap()).await.unwrap()).await, "guest");
    });
}

#[test]
fn an_empty_password_is_not_left_out_where_it_is_wrong() {
    everywhere(async |server, config| {
        user(server, "app", &[">first"]);
        let empty = Credentials::user_and_password("app", "");
        let given = config.clone().credentials(empty.clone());
        let error = Connection::connect(&given).await.unwrap_err();
        assert!(matches!(error, Error::AuthRefused { .. }), "{error:?}");
        let connector = Connector::connect(config).await.unwrap();
        let error = connector.authenticate(empty).await.unwrap_err();
        assert!(matches!(error, Error::AuthRefused { .. }), "{error:?}");
        assert_eq!(whoami(&connector).await, "default");
    });
}
