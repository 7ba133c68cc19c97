"""Images in a registry, stored and checked with plain requests."""

import gzip
import hashlib
import io
import json
import tarfile
import urllib.error
import urllib.request

OCI = 'application/vnd.oci.image.'
MANIFESTS = ', '.join((OCI + 'manifest.v1+json', 'application/vnd.docker.distribution.manifest.v2+json'))


def digest_of(data):
    return 'sha256:' + hashlib.sha256(data).hexdigest()


def ask(method, url, body=None, **headers):
    """Returns status, headers and body, whatever the status."""
    request = urllib.request.Request(url, data=body, method=method,
                                     headers={name.replace('_', '-'): value for name, value in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def tar_of(files):
    """Returns a layer: path -> content, all executable."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w') as archive:
        for path, content in files.items():
            entry = tarfile.TarInfo(path)
            entry.mode, entry.size = 0o755, len(content)
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def push_blob(address, path, data):
    status, headers, _ = ask('POST', f'http://{address}/v2/{path}/blobs/uploads/', b'')
    assert status == 202, status
    place = headers['Location']
    status, _, text = ask('PUT', place + ('&' if '?' in place else '?') + 'digest=' + digest_of(data), data,
                          Content_Type='application/octet-stream')
    assert status == 201, (status, text)


def push_image(address, path, tag, layers, configuration=None):
    """Pushes uncompressed `layers`; `configuration` overrides fields of the image. Returns its digest."""
    packed = [gzip.compress(layer, 1, mtime=0) for layer in layers]
    config = {'os': 'linux', 'architecture': 'amd64', 'config': {'Env': ['PATH=/usr/bin']},
              'rootfs': {'type': 'layers', 'diff_ids': [digest_of(layer) for layer in layers]}, **(configuration or {})}
    text = json.dumps(config).encode()
    for blob in (*packed, text):
        push_blob(address, path, blob)

    def described(kind, data):
        return {'mediaType': OCI + kind, 'digest': digest_of(data), 'size': len(data)}

    manifest = json.dumps({'schemaVersion': 2, 'mediaType': OCI + 'manifest.v1+json',
                           'config': described('config.v1+json', text),
                           'layers': [described('layer.v1.tar+gzip', layer) for layer in packed]}).encode()
    status, _, answer = ask('PUT', f'http://{address}/v2/{path}/manifests/{tag}', manifest,
                            Content_Type=OCI + 'manifest.v1+json')
    assert status == 201, (status, answer)
    return digest_of(manifest)


def push_base(address, path='tests/small-base', tag='1'):
    """Pushes an executor image that is read quickly: its programs are never run."""
    push_image(address, path, tag, [tar_of({'usr/bin/python3': b'#!/bin/sh\n', 'usr/bin/apt-get': b'#!/bin/sh\n'}),
                                    tar_of({'usr/lib/python3/dist-packages/pip/__init__.py': b''})])
    return f'{address}/{path}:{tag}'


def inflated(data):
    """Returns the content of a gzip file of any number of members; gzip.decompress takes quadratic time for many."""
    return gzip.GzipFile(fileobj=io.BytesIO(data)).read()


def whole_image(address, path, reference):
    """Returns the digest of `reference` after checking each of its blobs against its digest; None if it does not
    exist."""
    status, _, manifest = ask('GET', f'http://{address}/v2/{path}/manifests/{reference}', Accept=MANIFESTS)
    if status == 404:
        return None
    assert status == 200, (status, manifest)
    document = json.loads(manifest)
    contents = {}
    for blob in (document['config'], *document['layers']):
        status, _, data = ask('GET', f'http://{address}/v2/{path}/blobs/{blob["digest"]}')
        assert status == 200, f'{path}:{reference} lacks {blob["digest"]}'
        assert digest_of(data) == blob['digest'] and len(data) == blob['size'], f'{path}:{reference} is damaged'
        contents[blob['digest']] = data
    told = json.loads(contents[document['config']['digest']])['rootfs']['diff_ids']
    found = [digest_of(inflated(contents[layer['digest']])) for layer in document['layers']]
    assert told == found, f'{path}:{reference}: its configuration tells of other layers'
    return digest_of(manifest)


def tags(address, path):
    status, _, text = ask('GET', f'http://{address}/v2/{path}/tags/list')
    return json.loads(text)['tags'] or [] if status == 200 else []
