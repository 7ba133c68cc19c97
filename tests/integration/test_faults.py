"""The fault matrix: each step of a push, a submission (to Vertex AI and to Kubernetes) and a build by an
engine meets each fault.

A cell is `ok` (the run recovered), `told` (it ended within its limit with a clear error) or `-` (the step was not
taken). After each, a run without the fault succeeds; no tag names a wrong or partial image, no job is created twice
without notice, and no secret reached the server that redirects lead to. The long form takes all cells, including stalls
and permanent faults; the others take a sample.
"""

import concurrent.futures
import unittest

import fault_cells
import testbed
from fault_proxy import FAULTS

LONG = testbed.FORM == 'long'
STEP = {'daily': 7, 'nightly': 3, 'long': 1}[testbed.FORM]
WORKERS = 8
FOR_EVER = ('refused', 'reset after the body', '401', '429 with a time', '429', '500', '503', 'garbage', 'truncated')
ONLY_LONG = ('stall', 'oversized')


def cells(steps):
    """Returns (step, fault, times) for the table; the nightly form takes every third, the daily form every seventh."""
    all_cells = [(step, fault, 1) for step in steps for fault in FAULTS]
    all_cells += [(step, fault, None) for step in steps for fault in FOR_EVER]
    if LONG:
        return all_cells
    return [(step, fault, times) for index, (step, fault, times) in enumerate(all_cells)
            if index % STEP == 0 and fault not in ONLY_LONG and (times or fault == '503')]


def table(title, steps, outcomes):
    rows = sorted({(fault, times) for _, fault, times in outcomes}, key=lambda row: (row[1] is None, list(FAULTS).index(row[0])))
    lines = [f'{title}: ' + ', '.join(f'{number} {step}' for number, step in enumerate(steps, 1)),
             f'{"":32}' + ''.join(f'{number:>6}' for number in range(1, len(steps) + 1))]
    for fault, times in rows:
        words = ''.join(f'{outcomes[step, fault, times].word if (step, fault, times) in outcomes else "":>6}' for step in steps)
        lines.append(f'{fault + ("" if times else ", for ever"):32}{words}')
    return '\n'.join(lines)


class FaultMatrix(unittest.TestCase):
    def hold(self, make, least):
        testbed.new_folder()  # two threads must not create shared parts
        testbed.base_environment()
        kind = make()
        self.addCleanup(kind.close)
        wanted = [(step, fault, times) for step, fault, times in cells(kind.steps)
                  if (times or step not in kind.once_only) and (fault != 'stall' or step not in kind.patient)]
        title = make.__name__.lower()

        def outcome(numbered):
            number, (step, fault, times) = numbered
            try:
                return fault_cells.try_cell(kind, step, fault, times, f'{title}-{number}')
            except Exception as error:  # a hang, or a check that failed to run
                return fault_cells.Cell('BAD', repr(error))

        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            outcomes = dict(zip(wanted, pool.map(outcome, enumerate(wanted)), strict=True))
        print(table(title, kind.steps, outcomes), flush=True)
        bad = [f'{step} with {fault}{"" if times else " for ever"}: {cell.trouble}'
               for (step, fault, times), cell in outcomes.items() if cell.word == 'BAD']
        self.assertEqual(bad, [], '\n\n'.join(bad))
        met = sum(cell.word != '-' for cell in outcomes.values())
        self.assertGreaterEqual(met, least if LONG else 1, 'cells that met their fault')

    def test_a_push(self):
        self.hold(fault_cells.Push, 250)

    def test_a_submission(self):
        self.hold(fault_cells.Submit, 90)

    def test_a_submission_to_kubernetes(self):
        self.hold(fault_cells.Kubernetes, 120)

    def test_a_build_by_an_engine(self):
        self.hold(fault_cells.Engine, 60)


if __name__ == '__main__':
    unittest.main()
