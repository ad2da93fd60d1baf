"""What a board is: devicetree sources, changes to properties, bindings, parameters, SVD files."""
