"""Products with Gram matrices on torch tensors: fused on a CUDA card, tile by tile anywhere. Imports torch."""
