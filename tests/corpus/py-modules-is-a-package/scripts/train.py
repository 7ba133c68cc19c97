from diffusion_kit.steps import hello

print(hello())
