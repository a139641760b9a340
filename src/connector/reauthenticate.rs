//! Becoming somebody else on a live connection.

use tokio::time::timeout;

use super::{
    Connector, Error, Pool, cause::Cause, credentials::Credentials, dialect::Auth, handle::Handle,
    link::Outcome, step::Step,
};
use crate::resp::{Command, Reply};

impl Connector {
    /// Authenticates the live connection anew, with AUTH among everybody's commands, and takes
    /// these credentials for later connects, too; unless the config has a
    /// [provider](super::Config::credentials_from), which is asked then as before.
    ///
    /// Commands in flight before it run as the old user, those behind it as the new one;
    /// subscriptions go on. A [`Dedicated`](super::Dedicated) connection that is there already
    /// stays who it is until it is dialled again.
    ///
    /// # Errors
    ///
    /// [`Error::AuthRefused`] if the server does not take them: the connection, and later ones,
    /// are who they were. Else as [`command`](Self::command) fails: then the live connection may be
    /// the new user, or it is gone; later connects use the old credentials, and to call this again
    /// does no harm. The same holds for a future that is dropped.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use echo_wire::connector::{Config, Connector, Credentials};
    /// # use tokio::io::{AsyncReadExt, AsyncWriteExt};
    /// # let server = || async {
    /// #     let (ours, mut theirs) = tokio::io::duplex(4096);
    /// #     tokio::spawn(async move {
    /// #         let mut read = [0; 4096];
    /// #         for answer in ["%1\r\n+role\r\n+master\r\n+OK\r\n+OK\r\n_\r\n$12\r\nechomq:2.0.0\r\n", "+OK\r\n"] {
    /// #             theirs.read(&mut read).await.unwrap();
    /// #             theirs.write_all(answer.as_bytes()).await.unwrap();
    /// #         }
    /// #         theirs.read(&mut read).await.unwrap();
    /// #     });
    /// #     Ok(ours)
    /// # };
    /// let config = Config::tcp("localhost", 6379).user_and_password("worker", "of yesterday");
    /// # let connector = Connector::over(server, config).await?;
    /// # if false {
    /// # let config = Config::tcp("localhost", 6379);
    /// let connector = Connector::connect(config).await?;
    /// # }
    /// connector.authenticate(Credentials::user_and_password("worker", "of today")).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn authenticate(&self, credentials: Credentials) -> Result<(), Error> {
        let mut reply = self.auth(credentials.auth(Auth::UserAndPassword)).await?;
        let is_old = reply.as_error().is_some_and(|error| error.code() == "ERR");
        if is_old && credentials.is_default_user() {
            reply = self.auth(credentials.auth(Auth::PasswordAlone)).await?;
        }
        match reply.as_error() {
            None => {
                self.handle().config.identity.replace(credentials);
                Ok(())
            }
            Some(error) => Err(Step::Auth.refused(credentials.hidden_in(error))),
        }
    }

    /// Asks the config's [provider](super::Config::credentials_from) for credentials and
    /// authenticates the live connection with them, as [`authenticate`](Self::authenticate) does:
    /// for tokens that end the connection when they run out. (Without a provider, the credentials
    /// are those that there are.)
    ///
    /// # Errors
    ///
    /// [`Error::NotReady`] with [`Step::Credentials`] if the provider has none, or none within
    /// [`Config::connect_timeout`](super::Config::connect_timeout); [`Error::Misuse`] if the config
    /// has no credentials at all. Else as [`authenticate`](Self::authenticate).
    pub async fn renew_credentials(&self) -> Result<(), Error> {
        let Handle { config, .. } = self.handle();
        let not_ready = |cause| Error::NotReady { step: Step::Credentials, cause };
        match timeout(config.connect_timeout, config.identity.ask()).await {
            Ok(Ok(Some(credentials))) => self.authenticate(credentials).await,
            Ok(Ok(None)) => Err(Error::Misuse("the config has no credentials".into())),
            Ok(Err(error)) => Err(not_ready(Cause::Provider(error))),
            Err(_elapsed) => Err(not_ready(Cause::Deadline)),
        }
    }

    async fn auth(&self, command: Command<'_>) -> Result<Reply, Error> {
        let Handle { shared, config, .. } = self.handle();
        match shared.call(&config.policy, 1, |out| command.encode_to(out)).await? {
            Outcome::One(reply) => Ok(reply),
            Outcome::Many(replies) => Ok(replies.into_iter().next().unwrap_or_default()),
            Outcome::Failed(error) => Err(error),
        }
    }
}

impl Pool {
    /// As [`Connector::authenticate`], of all connectors, one after another. Ends at the first
    /// error; those before it are the new user.
    pub async fn authenticate(&self, credentials: Credentials) -> Result<(), Error> {
        for connector in self.connectors() {
            connector.authenticate(credentials.clone()).await?;
        }
        Ok(())
    }

    /// As [`Connector::renew_credentials`], of all connectors, one after another: a provider is
    /// asked for each. Ends at the first error.
    pub async fn renew_credentials(&self) -> Result<(), Error> {
        for connector in self.connectors() {
            connector.renew_credentials().await?;
        }
        Ok(())
    }
}
