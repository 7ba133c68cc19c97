print(len(open('weights.bin').read()))
