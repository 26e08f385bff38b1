"""Build openapi.yaml from the types of service.contract and the records of the routes."""
