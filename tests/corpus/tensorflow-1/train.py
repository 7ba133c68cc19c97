from nets import layers

print(layers)
