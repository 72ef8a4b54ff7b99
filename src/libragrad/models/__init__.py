"""What the model libraries need before LibraGrad can explain their models."""
