"""The filters of Google's list methods: `display_name="x" AND (labels.k=v OR NOT state="y")`."""

import re

TOKEN = re.compile(r'\s*(?:(?P<bracket>[()])|(?P<operator>!=|<=|>=|=|<|>|:)|"(?P<quoted>(?:\\.|[^"\\])*)"'
                   r'|(?P<word>[^\s()=!<>:"]+))')


class BadFilter(Exception):
    """The text is not a filter."""


def tokens_of(text):
    at, result = 0, []
    while text[at:].strip():
        match = TOKEN.match(text, at)
        if not match:
            raise BadFilter(text[at:])
        kind = match.lastgroup
        value = match.group(kind)
        result.append((kind, re.sub(r'\\(.)', r'\1', value) if kind == 'quoted' else value))
        at = match.end()
    return result


class Parser:
    """Compiles tokens to a predicate. `value_of(item, field)` returns an item's value, or None."""

    def __init__(self, text, value_of):
        self.tokens, self.value_of = tokens_of(text), value_of

    def parse(self):
        predicate = self.any_of() if self.tokens else lambda item: True
        if self.tokens:
            raise BadFilter(self.tokens[0][1])
        return predicate

    def take(self, *expected):
        if not self.tokens or (expected and self.tokens[0] not in expected):
            return None
        return self.tokens.pop(0)

    def any_of(self):
        parts = [self.all_of()]
        while self.take(('word', 'OR')):
            parts.append(self.all_of())
        return lambda item: any(part(item) for part in parts)

    def all_of(self):
        parts = [self.term()]
        while self.take(('word', 'AND')):
            parts.append(self.term())
        return lambda item: all(part(item) for part in parts)

    def term(self):
        if self.take(('word', 'NOT')):
            inner = self.term()
            return lambda item: not inner(item)
        if self.take(('bracket', '(')):
            inner = self.any_of()
            if not self.take(('bracket', ')')):
                raise BadFilter('a bracket is not closed')
            return inner
        return self.comparison()

    def comparison(self):
        field, operator, value = self.take(), self.take(), self.take()
        if not value or field[0] != 'word' or operator[0] != 'operator' or value[0] not in ('word', 'quoted'):
            raise BadFilter('a comparison is FIELD OPERATOR VALUE')
        return lambda item: compare(self.value_of(item, field[1]), operator[1], value[1])


def compare(actual, operator, wanted):
    if operator == '!=':
        return actual != wanted
    if actual is None:
        return False
    if operator == ':':
        return re.fullmatch('.*'.join(map(re.escape, wanted.split('*'))), actual) is not None
    return {'=': actual == wanted, '<': actual < wanted, '<=': actual <= wanted, '>': actual > wanted,
            '>=': actual >= wanted}[operator]
