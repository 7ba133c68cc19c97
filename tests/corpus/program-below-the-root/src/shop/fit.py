import argparse


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=1)
    print("epochs", parser.parse_args().epochs)


if __name__ == "__main__":
    main()
