//! Somebody who signs certificates.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};

pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate and its key.
pub struct Signed {
    pub pem: String,
    pub der: Vec<u8>,
    pub key: KeyPair,
}

impl Authority {
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self { issuer: CertifiedIssuer::self_signed(params, key).unwrap() }
    }

    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    pub fn der(&self) -> Vec<u8> {
        self.issuer.der().to_vec()
    }

    /// For these names and addresses.
    pub fn sign(&self, names: &[&str]) -> Signed {
        self.sign_until(names, 4000)
    }

    /// … that expires at the begin of this year.
    pub fn sign_until(&self, names: &[&str], year: i32) -> Signed {
        let names: Vec<_> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.not_after = date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().unwrap();
        let signed = params.signed_by(&key, &self.issuer).unwrap();
        Signed { pem: signed.pem(), der: signed.der().to_vec(), key }
    }
}
