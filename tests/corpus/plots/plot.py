import matplotlib

matplotlib.use('Agg')
import matplotlib.pyplot as plt  # noqa: E402
from PIL import Image  # noqa: E402

plt.plot([1, 2, 3])
plt.savefig('out.png')
print(Image.open('out.png').size)
