"""Whether the tests that a broken function fails are among those that Prism names."""
