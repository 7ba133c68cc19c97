import configparser
import pathlib

root = next(path for path in pathlib.Path(__file__).resolve().parents if (path / '.project-root').exists())
config = configparser.ConfigParser()
config.read(root / 'configs' / 'train.ini')
print('seed', config['train']['seed'])
