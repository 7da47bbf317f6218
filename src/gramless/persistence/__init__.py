"""Files of fitted models: arrays in the safetensors layout, all else as JSON in its header. Loading runs no code."""

from gramless.persistence.decoding import Decoder
from gramless.persistence.encoding import Encoder
from gramless.persistence.file import FORMAT, read_file, write_file
from gramless.persistence.replacing import replacing

__all__ = ["FORMAT", "Decoder", "Encoder", "read_file", "replacing", "write_file"]
