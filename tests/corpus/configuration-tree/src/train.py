import pathlib

import yaml

CONFIGS = pathlib.Path(__file__).parent.parent / 'configs'


def compose():
    groups = yaml.safe_load((CONFIGS / 'config.yaml').read_text())
    return {group: yaml.safe_load((CONFIGS / group / f'{name}.yaml').read_text()) for group, name in groups.items()}


if __name__ == '__main__':
    print(compose())
