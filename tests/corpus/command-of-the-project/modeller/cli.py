import greeter


def main():
    print(greeter.hello())
