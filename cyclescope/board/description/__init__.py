"""Descriptions of boards: devicetree sources, overrides, bindings, parameters, SVD files."""
