"""Products with Gram matrices on torch tensors: fused on a CUDA GPU, tile by tile on any device. Imports torch."""
