from pathlib import Path


def numbers():
    return [int(line) for line in (Path(__file__).parent / "numbers.txt").read_text().split()]
