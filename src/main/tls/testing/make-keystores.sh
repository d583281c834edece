#!/bin/sh
# Makes the key stores beside it, which the tests open; the keys are for tests alone. Needs openssl 3 with its legacy
# provider, and keytool. All are valid for a hundred years, but for the one that has expired. The password is "changeit"
# where nothing else is said.
set -eu
cd "$(dirname "$0")/keystores"
rm -f ./*
days=36500

# A root, an intermediate and a server certificate by it; a second pair without issuer.
openssl ecparam -name prime256v1 -genkey -noout -out root.key
openssl req -x509 -new -key root.key -subj '/CN=Test Root' -days $days -out root.pem \
  -addext 'basicConstraints=critical,CA:TRUE'
openssl ecparam -name prime256v1 -genkey -noout -out middle.key
openssl req -new -key middle.key -subj '/CN=Test Intermediate' -out middle.csr
printf 'basicConstraints=critical,CA:TRUE\n' > middle.ext
openssl x509 -req -in middle.csr -CA root.pem -CAkey root.key -CAcreateserial -days $days -extfile middle.ext -out middle.pem
openssl genrsa -out rsa.key 2048
openssl req -new -key rsa.key -subj '/CN=rsa.test' -out rsa.csr
printf 'subjectAltName=DNS:rsa.test,DNS:localhost,IP:127.0.0.1\n' > leaf.ext
openssl x509 -req -in rsa.csr -CA middle.pem -CAkey middle.key -CAcreateserial -days $days -extfile leaf.ext -out rsa.pem
openssl ecparam -name prime256v1 -genkey -noout -out ec.key
openssl req -x509 -new -key ec.key -subj '/O=Example/CN=ec.test' -days $days -out ec.pem \
  -addext 'subjectAltName=DNS:ec.test,DNS:localhost,IP:127.0.0.1'
openssl genpkey -algorithm ed25519 -out ed.key
openssl req -x509 -new -key ed.key -subj '/CN=ed.test' -days $days -out ed.pem -addext 'subjectAltName=DNS:ed.test'
cat middle.pem root.pem > issuers.pem

p12() { out=$1; shift; openssl pkcs12 -export -out "$out" -passout "pass:${password:-changeit}" "$@"; }
# As OpenSSL 3 makes them: PBES2 with AES-256, checksum by SHA-256. The intermediate and the root are in the wrong order.
cat root.pem middle.pem > disordered.pem
p12 rsa-chain.p12 -inkey rsa.key -in rsa.pem -certfile disordered.pem -name server
p12 ec.p12 -inkey ec.key -in ec.pem -name server
p12 ed25519.p12 -inkey ed.key -in ed.pem
p12 aes-128-sha512.p12 -inkey ec.key -in ec.pem -keypbe AES-128-CBC -certpbe AES-192-CBC -macalg sha512
p12 sha384.p12 -inkey ec.key -in ec.pem -macalg sha384 -iter 1
p12 pbes2-3des.p12 -inkey ec.key -in ec.pem -keypbe DES-EDE3-CBC -certpbe NONE
p12 open-key.p12 -inkey ec.key -in ec.pem -keypbe NONE -certpbe NONE
p12 no-checksum.p12 -inkey ec.key -in ec.pem -nomac
password=$(printf 'p\303\244ssw\303\266rd \360\235\204\236') p12 unicode.p12 -inkey ec.key -in ec.pem
openssl pkcs12 -export -out empty-password.p12 -passout pass: -inkey ec.key -in ec.pem
# As older programs make them.
p12 old.p12 -legacy -inkey rsa.key -in rsa.pem -certfile issuers.pem -name server
p12 old-3des.p12 -legacy -inkey ec.key -in ec.pem -keypbe PBE-SHA1-2DES -certpbe PBE-SHA1-3DES
p12 old-rc2.p12 -legacy -inkey ec.key -in ec.pem -keypbe PBE-SHA1-RC2-128 -certpbe PBE-SHA1-RC2-40
password=$(printf 'p\303\244ssw\303\266rd \360\235\204\236') p12 old-unicode.p12 -legacy -inkey ec.key -in ec.pem
p12 old-rc4.p12 -legacy -inkey ec.key -in ec.pem -keypbe PBE-SHA1-RC4-128
# Wrong ones.
p12 foreign-certificate.p12 -nokeys -in ec.pem
printf '[ca]\ndefault_ca=d\n[d]\ndatabase=index\nserial=serial\nnew_certs_dir=.\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n' > ca.cnf
: > index; echo 77 > serial
openssl req -new -key ec.key -subj '/CN=expired.test' -out expired.csr
openssl ca -batch -config ca.cnf -selfsign -keyfile ec.key -in expired.csr -startdate 20200101000000Z \
  -enddate 20200201000000Z -notext -out expired.pem
p12 expired.p12 -inkey ec.key -in expired.pem

# Java's.
store() { keytool -J-Duser.language=en -storepass changeit -noprompt "$@"; }
store -importkeystore -srckeystore ec.p12 -srcstorepass changeit -srcalias server -destalias zeta \
  -destkeystore two-keys.jks -deststoretype JKS
store -importkeystore -srckeystore rsa-chain.p12 -srcstorepass changeit -srcalias server -destalias alpha \
  -destkeystore two-keys.jks -deststoretype JKS
store -importcert -alias a-trusted-one -file root.pem -keystore two-keys.jks -storetype JKS
store -importkeystore -srckeystore ec.p12 -srcstorepass changeit -srcalias server -destkeystore ec.jks -deststoretype JKS
cp ec.jks other-key-password.jks
store -keypasswd -alias server -keypass changeit -new different -keystore other-key-password.jks
store -importcert -alias root -file root.pem -keystore certificates-only.jks -storetype JKS
store -importkeystore -srckeystore two-keys.jks -srcstorepass changeit -destkeystore two-keys-java.p12 -deststoretype PKCS12
store -importkeystore -srckeystore ec.p12 -srcstorepass changeit -srcalias server -destkeystore ec.jceks -deststoretype JCEKS
store -importkeystore -srckeystore ec.p12 -srcstorepass changeit -destkeystore old-java.p12 -deststoretype PKCS12 \
  -J-Dkeystore.pkcs12.legacy

# Kept: the stores, and what clients trust.
find . -type f ! -name '*.p12' ! -name '*.jks' ! -name '*.jceks' ! -name root.pem ! -name ec.pem -delete
