"""Cloud Logging in the stand-in: entries of jobs, read in pages, within a quota."""

import re
import time

from job_service import now, oracle_faults
from list_filter import BadFilter, Parser

READS_PER_MINUTE = 60


def field_of(entry, field):
    value = entry
    for part in field.split('.'):
        value = value.get(part, {}) if isinstance(value, dict) else {}
    return in_full(value) if field == 'timestamp' else value or None


def in_full(timestamp):
    """Returns the time with nine digits of the second, so that times compare as texts do."""
    match = re.fullmatch(r'([\dT:-]+)(?:\.(\d{1,9}))?Z', timestamp)
    if not match:
        raise BadFilter(f'{timestamp} is no time')
    return f'{match[1]}.{(match[2] or "").ljust(9, "0")}Z'


class LogService:
    """Log entries by project."""

    def __init__(self, refuse, oracle):
        self.refuse, self.oracle = refuse, oracle
        self.page_size = 1000
        self.reads = 0
        self.entries = []
        self.raw = []
        self._times = []
        self._tokens = {}
        self._known_good = set()

    def add(self, job, text, *, task='workerpool0-0', severity='INFO', timestamp=None, insert_id=None, payload=None,
            after=0):
        """One entry of the job with the resource name `job`; it shows once `after` reads were served."""
        parts = job.split('/')
        entry = {
            'timestamp': timestamp or now(),
            'insertId': insert_id or f'id{len(self.entries):06}',
            'severity': severity,
            'logName': f'projects/{parts[1]}/logs/{task}',
            'resource': {'type': 'ml_job', 'labels': {'job_id': parts[-1], 'project_id': parts[1], 'task_name': task}},
        }
        entry.update(payload or {'jsonPayload': {'message': text, 'levelname': severity, 'attrs': {'tag': task}}})
        self.entries.append((after, f'projects/{parts[1]}', entry))

    def list(self, body):
        self.count_read()
        shape = (*sorted(body), 'task_name' in body.get('filter', ''))
        if self.oracle and shape not in self._known_good:
            for path, words in oracle_faults(body, 'ListLogEntriesRequest', self.oracle, 'logging-v2-pruned'):
                raise self.refuse(400, f'{path}: {words}')
            self._known_good.add(shape)
        filter_text = body.get('filter', '')
        if body.get('orderBy') != 'timestamp asc' or not re.search(r'timestamp\s*>=?', filter_text):
            raise self.refuse(400, 'Without a lower bound only the last day is searched.')
        try:
            text = re.sub(r'timestamp\s*([<>=]+)\s*"([^"]*)"',
                          lambda match: f'timestamp{match[1]}"{in_full(match[2])}"', filter_text)
            wanted = Parser(text, field_of).parse()
        except BadFilter as fault:
            raise self.refuse(400, f'The filter cannot be read: {fault}') from None
        start = self.page_start(body)
        found = [entry for after, project, entry in self.entries
                 if after < self.reads and project in body['resourceNames'] and wanted(entry)]
        found.sort(key=lambda entry: (in_full(entry['timestamp']), entry['insertId']))
        size = min(int(body.get('pageSize') or 50), self.page_size)
        result = {'entries': found[start:start + size]} if found[start:start + size] else {}
        if start == 0 and self.raw:
            result['entries'] = [*self.raw, *result.get('entries', [])]
        if len(found) > start + size:
            token = f'page{len(self._tokens)}'
            self._tokens[token] = (start + size, body['filter'])
            result['nextPageToken'] = token
        return result

    def page_start(self, body):
        if 'pageToken' not in body:
            return 0
        start, text = self._tokens.get(body['pageToken'], (None, None))
        if text != body['filter']:
            raise self.refuse(400, 'page_token does not belong to this request.')
        return start

    def count_read(self):
        moment = time.monotonic()
        self._times = [read for read in self._times if moment - read < 60] + [moment]
        self.reads += 1
        if len(self._times) > READS_PER_MINUTE:
            raise self.refuse(429, "Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute'.")
