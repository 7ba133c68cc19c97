from tensorflow.contrib import layers
