def main():
    print("trained")


if __name__ == "__main__":
    main()
