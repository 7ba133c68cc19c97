#!/usr/bin/env python3
"""Signs a statement as `cosign attest-blob` does, and prints a public key as `cosign public-key` does, with a key in a
plain PEM file and OpenSSL's program.

The daily tests run it in place of cosign, which Debian does not have; the nightly form runs the real one.
Each run is recorded in the file that COSIGN_RECORD names: its arguments, one line of JSON.
"""

import argparse
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile

BUNDLE = 'application/vnd.dev.sigstore.bundle.v0.3+json'
STATEMENT = 'application/vnd.in-toto+json'


def main():
    if sys.argv[1:3] == ['public-key', '--key']:
        sys.exit(subprocess.run(['openssl', 'ec', '-in', sys.argv[3], '-pubout'], check=False).returncode)
    parser = argparse.ArgumentParser()
    parser.add_argument('command', choices=['attest-blob'])
    parser.add_argument('--yes', action='store_true')
    for name in ('--key', '--statement', '--bundle', '--signing-config', '--trusted-root'):
        parser.add_argument(name, required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    if 'COSIGN_RECORD' in os.environ:
        with open(os.environ['COSIGN_RECORD'], 'a', encoding='utf-8') as record:
            record.write(json.dumps(sys.argv) + '\n')
    for file in (arguments.signing_config, arguments.trusted_root):
        # No service is named, so that nothing is sent.
        if list(json.loads(file.read_text())) != ['mediaType']:
            sys.exit(f'{file} names services')
    payload = arguments.statement.read_bytes()
    with tempfile.NamedTemporaryFile() as text:
        text.write(f'DSSEv1 {len(STATEMENT)} {STATEMENT} {len(payload)} '.encode() + payload)
        text.flush()
        signed = subprocess.run(['openssl', 'dgst', '-sha256', '-sign', arguments.key, text.name], capture_output=True, check=False)
    if signed.returncode != 0:
        sys.exit('Error: signing: reading key: ' + signed.stderr.decode())
    arguments.bundle.write_text(json.dumps({
        'mediaType': BUNDLE, 'verificationMaterial': {'publicKey': {'hint': ''}},
        'dsseEnvelope': {'payload': base64.b64encode(payload).decode(), 'payloadType': STATEMENT,
                         'signatures': [{'sig': base64.b64encode(signed.stdout).decode()}]}}))


if __name__ == '__main__':
    main()
