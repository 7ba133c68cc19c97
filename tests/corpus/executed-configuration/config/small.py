batch_size = 3
