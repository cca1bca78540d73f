import a_module_that_nobody_wrote


def handler(event, context):
    return a_module_that_nobody_wrote
