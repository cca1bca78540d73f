"""Models of one's own: a folder with `model.onnx` and `tokenizer.json`."""
