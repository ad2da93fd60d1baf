def render(result):
    return "<html></html>"
