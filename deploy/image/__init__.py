"""The image of Prism: how it is built, and how it is tried."""
