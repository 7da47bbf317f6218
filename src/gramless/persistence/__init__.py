"""Files of fitted models: arrays in the safetensors format, all else as JSON in its header. Loading runs no code."""

from gramless.persistence.encoding import Decoder, Encoder
from gramless.persistence.file import FORMAT, read_file, write_file

__all__ = ["FORMAT", "Decoder", "Encoder", "read_file", "write_file"]
