def predict(x):
    return x


if __name__ == "__main__":
    print(predict(1))
