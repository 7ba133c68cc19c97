"""The logs of pods in the stand-in for Kubernetes: what a node's kubelet would say, and the API server's refusals before it."""

import copy
import datetime
import re

from kubernetes_rules import POD
from kubernetes_store import Refused, invalid, kind_of

NODES = {
    'error': lambda *_: Refused(500, 'Internal error occurred: Internal error', reason='InternalError',
                                details={'causes': [{'message': 'Internal error'}]}),
    'unreachable': lambda pod, container: Refused(
        500, f'Get "https://127.0.0.1:1/containerLogs/ml/{pod}/{container}": dial tcp 127.0.0.1:1: connect: connection refused',
        reason=None),
    'no pod': lambda pod, _: Refused(404, f'the server could not find the requested resource ( pods/log {pod})',
                                     details={'name': pod, 'kind': 'pods/log'}),
}


class PodLogs:
    """The part of the service that answers requests for logs."""

    def answer_log(self, request):
        with self.store.lock:
            pod = copy.deepcopy(self.store.need(POD, request.namespace, request.name))
        query, name = request.query, request.name
        check_log_options(name, query)
        names = [container['name'] for container in pod['spec']['containers']]
        if not query.get('container') and len(names) > 1:
            raise Refused(400, f'a container name must be specified for pod {name}, choose one of: [{" ".join(names)}]')
        if query.get('container', names[0]) not in names:
            raise Refused(400, f'container {query["container"]} is not valid for pod {name}')
        if not pod['spec'].get('nodeName'):
            request.handler.send_response(204)
            request.handler.end_headers()
            return
        container = query.get('container', names[0])
        waiting = next((entry['state'].get('waiting') for entry in pod['status'].get('containerStatuses', [])
                        if entry['name'] == container), {'reason': 'ContainerCreating'})
        if waiting is not None:
            why = {'ImagePullBackOff': 'trying and failing to pull image', 'ErrImagePull': "image can't be pulled"}.get(
                waiting['reason'], waiting['reason'])
            raise Refused(400, f'container "{container}" in pod "{name}" is waiting to start: {why}')
        if query.get('previous', 'false') not in ('false', '0'):
            raise Refused(400, f'previous terminated container "{container}" in pod "{name}" not found')
        fault = next((fault for pattern, fault in self.log_faults.items() if re.search(pattern, name)), None)
        if fault:
            raise NODES[fault](name, container)
        self.send_log(request, pod)

    def lines_of(self, pod):
        """Returns the lines of a pod so far, each with its time."""
        name = pod['metadata']['name']
        texts = next((lines for pattern, lines in self.logs.items() if re.search(pattern, name)), self.lines)
        begin = datetime.datetime.fromisoformat(pod['status']['startTime'].replace('Z', '+00:00'))
        return [((begin + datetime.timedelta(microseconds=number + 1)).strftime('%Y-%m-%dT%H:%M:%S.%f') + '000Z', text)
                for number, text in enumerate(list(texts))]

    def send_log(self, request, pod):
        query = request.query
        stamps = query.get('timestamps', 'false') not in ('false', '0')
        followed = query.get('follow', 'false') not in ('false', '0')
        # The node gets the time without its fraction.
        since = query.get('sinceTime', '').partition('.')[0].rstrip('Z')
        lines = [entry for entry in self.lines_of(pod) if entry[0] >= since]
        sent = max(0, len(lines) - int(query['tailLines'])) if 'tailLines' in query else 0
        handler = request.handler
        handler.begin_chunks('text/plain')
        cut = followed and self.cut_logs > 0
        self.cut_logs -= cut
        while True:
            if cut:
                lines = lines[:sent + 2]
            data = ''.join((f'{stamp} {text}' if stamps else text) + '\n' for stamp, text in lines[sent:]).encode()
            handler.chunk(data[:int(query['limitBytes'])] if 'limitBytes' in query else data)
            sent = len(lines)
            with self.store.lock:
                now = self.store.get(POD, request.namespace, request.name)
                going = now is not None and now['status']['phase'] == 'Running' and not now['metadata'].get('deletionTimestamp')
                if cut or not followed or not going or self.controllers.ended:
                    break
                self.store.changed.wait(0.2)
            lines = [entry for entry in self.lines_of(pod) if entry[0] >= since]
        if not cut:
            rest = [entry for entry in self.lines_of(pod) if entry[0] >= since][sent:] if followed else []
            handler.chunk(''.join((f'{stamp} {text}' if stamps else text) + '\n' for stamp, text in rest).encode())
        handler.end_chunks()


def check_log_options(name, query):
    def refuse(field, text):
        fault = invalid(kind_of('Pod'), name, [(field, text)])
        fault.body['message'] = fault.body['message'].replace('Pod ', 'PodLogOptions ', 1)
        fault.body['details']['kind'] = 'PodLogOptions'
        return fault

    since = query.get('sinceTime')
    if since and not re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)', since):
        raise Refused(400, f'parsing time "{since}" as "2006-01-02T15:04:05Z07:00": cannot parse "{since}" as "2006"')
    if since and query.get('sinceSeconds'):
        raise refuse('[]', 'Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified')
    if int(query.get('tailLines') or 0) < 0:
        raise refuse('tailLines', f'Invalid value: {query["tailLines"]}: must be greater than or equal to 0')
    if query.get('stream', 'All') != 'All':
        raise refuse('stream', 'Forbidden: may not be specified')
