"""Who may do what on the stand-in for Kubernetes, and what it says of its groups."""

import pathlib
import ssl
import subprocess

from kubernetes_store import KINDS, Refused, kind_of, now

# Group of users -> namespace -> (groups, resources, verbs).
READS = ('get', 'list', 'watch')
SUBMITTER = [
    (('jobset.x-k8s.io',), ('jobsets',), ('create', *READS, 'delete')),
    (('trainer.kubeflow.org',), ('trainjobs',), ('create', *READS, 'delete')),
    (('batch',), ('jobs',), ('create', *READS, 'delete', 'patch')), (('',), ('pods', 'events'), READS),
    (('',), ('pods/log',), ('get',)), (('kueue.x-k8s.io',), ('localqueues', 'workloads'), READS),
    (('visibility.kueue.x-k8s.io',), ('localqueues/pendingworkloads',), ('get',)),
]
OPEN_PATHS = ('/version', '/healthz', '/readyz', '/livez')
REVIEWS = ('selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'selfsubjectreviews')
PENDING = 'pendingworkloads'


class User:
    def __init__(self, name, groups=(), uid=''):
        self.name, self.uid = name, uid
        self.groups = [*groups, 'system:authenticated' if name != 'system:anonymous' else 'system:unauthenticated']


ANONYMOUS = User('system:anonymous')


class Access:
    """Tokens and rights; a client certificate names a user and groups by itself."""

    def __init__(self):
        self.users = {}  # token -> user
        self.rules = {'ml-team': {'ml': list(SUBMITTER)}}

    def user_of(self, authorization, certificate):
        kind, _, token = authorization.partition(' ')
        if kind == 'Bearer':
            if token not in self.users:
                raise Refused(401, 'Unauthorized')
            return self.users[token]
        if certificate:
            parts = [pair for group in certificate['subject'] for pair in group]
            names = [value for key, value in parts if key == 'commonName']
            return User(names[0], [value for key, value in parts if key == 'organizationName'])
        return ANONYMOUS

    def reason(self, user, verb, group, resource, namespace):
        """Returns why the user may do this; None if he may not."""
        if 'system:masters' in user.groups:
            return ''
        if resource in REVIEWS and verb == 'create':
            return None if user is ANONYMOUS else ''
        for name in user.groups:
            for groups, resources, verbs in self.rules.get(name, {}).get(namespace, []):
                if group in groups and resource in resources and verb in verbs:
                    return f'RBAC: allowed by RoleBinding "submitter/{namespace}" of Role "submitter" to Group "{name}"'
        return None

    def require(self, user, verb, group, resource, namespace, name=''):
        if self.reason(user, verb, group, resource, namespace) is not None:
            return
        kind, title = resource.partition('/')[0], resource.partition('/')[0] + (f'.{group}' if group else '')
        scope = f'in the namespace "{namespace}"' if namespace else 'at the cluster scope'
        raise Refused(403, f'{title}{f""" "{name}" """.rstrip() if name else ""} is forbidden: User "{user.name}" cannot {verb} '
                      f'resource "{resource}" in API group "{group}" {scope}',
                      details=({'name': name} if name else {}) | ({'group': group} if group else {}) | {'kind': kind})

    def require_path(self, user, path):
        """Refuses a path outside the groups to nobody in particular, but for the open ones."""
        if user is ANONYMOUS and not path.startswith(OPEN_PATHS):
            raise Refused(403, f'forbidden: User "{user.name}" cannot get path "{path}"', details={})

    def review(self, user, resource, item):
        """Returns the answer to a review of one's own rights."""
        result = {'kind': item['kind'], 'apiVersion': item['apiVersion'], 'metadata': {}, 'spec': item.get('spec', {})}
        if resource == 'selfsubjectreviews':
            facts = {'username': user.name, **({'uid': user.uid} if user.uid else {}), 'groups': user.groups}
            return {'kind': item['kind'], 'apiVersion': item['apiVersion'], 'metadata': {'creationTimestamp': now()},
                    'status': {'userInfo': facts}}
        if resource == 'selfsubjectrulesreviews':
            own = [{'verbs': ['create'], 'apiGroups': ['authorization.k8s.io'], 'resources': list(REVIEWS[:2])},
                   {'verbs': ['create'], 'apiGroups': ['authentication.k8s.io'], 'resources': [REVIEWS[2]]}]
            for name in user.groups:
                for groups, resources, verbs in self.rules.get(name, {}).get(item['spec'].get('namespace'), []):
                    own.append({'verbs': list(verbs), 'apiGroups': list(groups), 'resources': list(resources)})
            result['spec'], result['status'] = {}, {'resourceRules': own, 'nonResourceRules': [], 'incomplete': False}
            return result
        asked = item['spec']['resourceAttributes']
        kind = asked.get('resource', '') + (f'/{asked["subresource"]}' if asked.get('subresource') else '')
        reason = self.reason(user, asked['verb'], asked.get('group', ''), kind, asked.get('namespace', ''))
        result['status'] = {'allowed': reason is not None} | ({'reason': reason} if reason else {})
        return result


class Certificates:
    """An authority of one test, with certificates of the server and of users."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.ca = self.folder / 'ca.crt'
        self.openssl('req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=test-authority '
                     '-keyout ca.key -out ca.crt')
        self.make('server', '/CN=kube-apiserver', 'subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc')

    def openssl(self, arguments):
        subprocess.run(['openssl', *arguments.split()], cwd=self.folder, check=True, capture_output=True)

    def make(self, name, subject, extension=''):
        """Returns the paths of a certificate and its key."""
        (self.folder / f'{name}.ext').write_text(f'extendedKeyUsage=serverAuth,clientAuth\n{extension}\n')
        self.openssl(f'req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj {subject} -keyout {name}.key -out {name}.csr')
        self.openssl(f'x509 -req -in {name}.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -out {name}.crt '
                     f'-extfile {name}.ext')
        return self.folder / f'{name}.crt', self.folder / f'{name}.key'

    def wrap_socket(self, connection, server_side):
        """Wraps a listening socket; the handshake happens in the thread of the connection."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / 'server.crt', self.folder / 'server.key')
        context.load_verify_locations(self.ca)
        context.verify_mode = ssl.CERT_OPTIONAL
        return context.wrap_socket(connection, server_side=server_side, do_handshake_on_connect=False)


# Discovery

AGGREGATED = 'as=APIGroupDiscoveryList'
VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']


class Discovery:
    """The groups, without the kinds that are `missing`."""

    def __init__(self, missing):
        self.missing = missing

    def kinds(self):
        return [kind for kind in KINDS if kind.kind not in self.missing]

    def versions(self):
        """Returns `group/version` of everything but the core."""
        found = [kind.version for kind in self.kinds() if kind.group]
        found += ['authentication.k8s.io/v1', 'authorization.k8s.io/v1']
        if 'Workload' not in self.missing:
            found.append('visibility.kueue.x-k8s.io/v1beta2')
        return list(dict.fromkeys(found))

    def resources(self, version):
        """Returns (name, kind, whether it has namespaces, verbs)."""
        group = version.rpartition('/')[0]
        found = [(kind.plural, kind.kind, kind.namespaced, VERBS) for kind in self.kinds() if kind.version == version]
        if version == 'v1':
            found.append(('pods/log', 'Pod', True, ['get']))
        if group == 'authorization.k8s.io':
            found += [(REVIEWS[0], 'SelfSubjectAccessReview', False, ['create']),
                      (REVIEWS[1], 'SelfSubjectRulesReview', False, ['create'])]
        if group == 'authentication.k8s.io':
            found.append((REVIEWS[2], 'SelfSubjectReview', False, ['create']))
        if group == 'visibility.kueue.x-k8s.io':
            for name, namespaced in (('clusterqueues', False), ('localqueues', True)):
                found += [(name, 'PendingWorkloadsSummary', namespaced, []),
                          (f'{name}/{PENDING}', 'PendingWorkloadsSummary', namespaced, ['get'])]
        return found

    def answer(self, path, accept):
        """Returns the answer to a path of discovery and its type; None for other paths."""
        if path in ('/api', '/apis') and AGGREGATED in accept:
            return self.aggregated(['v1'] if path == '/api' else self.versions()), accept.partition(',')[0]
        if path == '/api':
            return {'kind': 'APIVersions', 'versions': ['v1'], 'serverAddressByClientCIDRs': []}, None
        if path == '/apis':
            return {'kind': 'APIGroupList', 'apiVersion': 'v1', 'groups': [self.group(version) for version in self.versions()]}, None
        version = path.removeprefix('/apis/') if path.startswith('/apis/') else path.removeprefix('/api/')
        if version in ('v1', *self.versions()):
            return {'kind': 'APIResourceList', **({'apiVersion': 'v1'} if version != 'v1' else {}), 'groupVersion': version,
                    'resources': [{'name': name, 'singularName': '' if '/' in name else kind.lower(), 'namespaced': namespaced,
                                   'kind': kind, 'verbs': verbs} for name, kind, namespaced, verbs in self.resources(version)]}, None
        if any(name.partition('/')[0] == version for name in self.versions()):
            return {'kind': 'APIGroup', 'apiVersion': 'v1', **self.group(next(
                name for name in self.versions() if name.partition('/')[0] == version))}, None
        return None

    @staticmethod
    def group(version):
        own = {'groupVersion': version, 'version': version.rpartition('/')[2]}
        return {'name': version.rpartition('/')[0], 'versions': [own], 'preferredVersion': own}

    def aggregated(self, versions):
        items = []
        for version in versions:
            group, _, number = version.rpartition('/')
            found = self.resources(version)
            resources = []
            for name, kind, namespaced, verbs in found:
                if '/' in name:
                    continue
                answers = {'group': group, 'version': number, 'kind': kind}
                inner = [{'subresource': other.partition('/')[2], 'responseKind': {**answers, 'kind': other_kind}, 'verbs': own}
                         for other, other_kind, _, own in found if other.startswith(name + '/')]
                resources.append({'resource': name, 'responseKind': answers, 'scope': 'Namespaced' if namespaced else 'Cluster',
                                  'singularResource': kind.lower(), 'verbs': verbs, **({'subresources': inner} if inner else {})})
            items.append({'metadata': {'name': group} if group else {}, 'versions': [
                {'version': number, 'resources': resources, 'freshness': 'Current'}]})
        return {'kind': 'APIGroupDiscoveryList', 'apiVersion': 'apidiscovery.k8s.io/v2', 'metadata': {}, 'items': items}

    def openapi(self, path):
        """Returns the part of /openapi/v3 that says which queries a request takes; None for a missing group."""
        names = {'api/v1': 'v1', **{f'apis/{version}': version for version in self.versions()}}
        if path == '/openapi/v3':
            return {'paths': {name: {'serverRelativeURL': f'/openapi/v3/{name}?hash=1'} for name in names}}
        version = names.get(path.removeprefix('/openapi/v3/'))
        if version is None:
            return None
        paths = {}
        queries = [{'name': name, 'in': 'query', 'schema': {'type': 'string'}} for name in ('dryRun', 'fieldManager',
                                                                                           'fieldValidation')]
        for kind in self.kinds():
            if kind.version == version:
                mark = {'group': kind.group, 'version': version.rpartition('/')[2], 'kind': kind.kind}
                place = 'namespaces/{namespace}/' if kind.namespaced else ''
                where = f'/{path.removeprefix("/openapi/v3/")}/{place}{kind.plural}'
                paths[where] = {'post': {'parameters': queries, 'x-kubernetes-group-version-kind': mark}}
                paths[where + '/{name}'] = {'patch': {'parameters': queries, 'x-kubernetes-group-version-kind': mark}}
        return {'openapi': '3.0.0', 'info': {'title': 'Kubernetes', 'version': 'v1.36.3'}, 'paths': paths,
                'components': {'schemas': {}}}


def known_kind(version, plural, missing):
    """Returns the kind of a path; None if the server does not have it."""
    return next((kind for kind in KINDS if (kind.version, kind.plural) == (version, plural) and kind.kind not in missing), None)
