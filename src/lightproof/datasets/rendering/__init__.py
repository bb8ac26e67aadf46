"""How a made-up person is drawn; :mod:`lightproof.datasets.synthetic` puts the light on it."""
